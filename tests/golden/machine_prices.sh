# Times of random graphs, priced a second time by plain Python.
python3 -B "$(dirname "$0")/machine_prices.py"

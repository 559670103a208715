set -o pipefail
pebble gen chain 200000 | head -c 26

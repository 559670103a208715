# models from measurements: a formula with an overhead, and a copy whose time depends on the size
for flops in 1000 10000 100000 1000000 10000000; do
    for bytes in 500 5000 50000 500000; do
        computing=$((flops / 50)) moving=$((bytes / 10))
        echo "conv,float32,$flops,$bytes,$((1000 + (computing > moving ? computing : moving)))"
    done
done >conv.csv
for bytes in 4000 8000 16000 32000 64000 128000; do echo "copy,,0,$bytes,$((200 + bytes / (bytes < 40000 ? 40 : 20)))"; done >copy.csv
pebble machine fit conv.csv copy.csv -o fitted.json --name mine
pebble machine fit conv.csv copy.csv -o again.json --name mine --json
pebble machine show fitted.json
cmp fitted.json again.json && grep -c '"op"' fitted.json

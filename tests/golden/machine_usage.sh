pebble machine
pebble machine shwo a100-40
pebble machine a100-40
pebble machine show
pebble machine list a100-40
pebble machine show a100-41
pebble machine show 'a100-40*100'
pebble machine show ./none.json
pebble gen chain 4 -o g.json
pebble plan g.json --machine a100-44
pebble plan g.json --machine 'a100-40*x'
pebble plan g.json --machine none
printf '{"format":"pebble-machine/1","name":"m","time_unit":"ns","memories":[{"name":"a"}],\n"processors":[]}' >bad.json
pebble plan g.json --machine bad.json

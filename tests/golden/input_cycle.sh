printf '{"format":"pebble-graph/1","nodes":[{"name":"a","cost":1,"size":1},{"name":"b","cost":1,"size":1}],"edges":[[0,1],[1,0]]}' |
    pebble plan - --cap 3

source <(pebble help --as bash)
words() {
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _pebble
    echo "${COMPREPLY[@]}"
}
words pebble ex
words pebble gen adj
words pebble plan --ga
words pebble plan --game re
words pebble gen pyramid --he

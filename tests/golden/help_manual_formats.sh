# The manual page is roff that man can read, and names every option.
pebble help --as man >manual
head -n 3 manual
man -l manual >/dev/null 2>man-errors && cat man-errors
for option in cap game strategy weights output 'any\-graph'; do
    grep -qF "\\-\\-$option" manual || echo "no --$option"
done

#!/bin/sh
# A small agent: it submits the answers to its quest in answers.txt, until one is accepted.
id=$(comail next | sed -n 's/^quest \([0-9]*\) of .*/\1/p')
grep "^$id|" answers.txt | while IFS='|' read -r id site email source; do
  comail submit --id "$id" --site "$site" --email "$email" --source "$source" && break
done

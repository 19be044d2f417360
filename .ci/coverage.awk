# Reads LCOV, prints the line coverage of each directory and of the worst files, and exits 1 if
# coverage is below a bound.

function share(hit, all) { return all ? 100 * hit / all : 100 }

function must(what, hit, all, bound) {
    printf "%6.2f %%  of %5d lines  %s (at least %d %%)\n", share(hit, all), all, what, bound
    if (share(hit, all) < bound) low = 1
}

/^SF:/ {
    file = substr($0, 4)
    sub(/^.*\/src\//, "src/", file)
    counted = file ~ /^src\//
    split(file, part, "/")
    dir = part[3] == "" ? "src" : part[1] "/" part[2]
}

/^DA:/ && counted {
    split(substr($0, 4), line, ",")
    reached = line[2] > 0
    all[file]++; hit[file] += reached
    dir_all[dir]++; dir_hit[dir] += reached
    sum_all++; sum_hit += reached
    if (dir == "src/gate" || dir == "src/session" || dir == "src/judge") { core_all++; core_hit += reached }
}

END {
    if (!sum_all) { print "no coverage was measured"; exit 1 }
    for (name in dir_all)
        printf "%6.2f %%  of %5d lines  %s\n", share(dir_hit[name], dir_all[name]), dir_all[name], name
    print "files under 80 %:"
    for (name in all)
        if (share(hit[name], all[name]) < 80)
            printf "%6.2f %%  of %5d lines  %s\n", share(hit[name], all[name]), all[name], name
    must("src", sum_hit, sum_all, 90)
    must("src/gate, src/session and src/judge", core_hit, core_all, 95)
    exit low
}

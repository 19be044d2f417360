"""How many there are, in words."""

SMALL = {0: "no", 1: "one", 2: "two", 3: "three"}


def count_in_words(count, what):
    """The count with its noun, as one says it."""
    if count < 0:
        raise ValueError("a count is not negative")
    noun = what if count == 1 else plural(what)
    return SMALL.get(count, str(count)) + " " + noun


def plural(what):
    if what.endswith(("s", "x", "z", "ch", "sh")):
        return what + "es"
    if what.endswith("y") and what[-2:-1] not in "aeiou":
        return what[:-1] + "ies"
    return what + "s"

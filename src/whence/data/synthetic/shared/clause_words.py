"""The vocabulary of the synthetic corpus `clauses`; every class of parents has equally many words of each kind."""

Lexicon = dict[str, tuple[str, ...]]

NOUNS: Lexicon = {
    "person": ("sailor", "baker", "nurse", "painter", "farmer", "teacher"),
    "animal": ("fox", "goat", "raven", "horse", "badger", "heron"),
}
ADJECTIVES: Lexicon = {
    "colour": ("red", "green", "grey", "black", "white", "brown"),
    "size": ("tall", "small", "huge", "tiny", "short", "large"),
}
INTRANSITIVE: Lexicon = {
    "loud": ("shouted", "laughed", "whistled", "screamed"),
    "quiet": ("waited", "rested", "listened", "smiled"),
}
TRANSITIVE: Lexicon = {
    "loud": ("called", "scolded", "cheered", "startled"),
    "quiet": ("watched", "followed", "admired", "remembered"),
}
SAYING: Lexicon = {
    "loud": ("declared", "announced", "exclaimed", "bellowed"),
    "quiet": ("believed", "suspected", "whispered", "noticed"),
}
CLASSES = ("person", "animal", "colour", "size", "loud", "quiet")
INTENSIFIERS = ("very", "quite", "rather")
TIMES = ("yesterday", "today", "often", "sometimes")
NEAR = ("near", "behind", "beside")  # with these, a noun depends on a verb
OF = ("of", "with")  # with these, on a noun
LINKS = ("while", "because", "before")

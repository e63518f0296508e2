"""What is audited when nothing is named: two small models whose answers are known from the papers.

`stories`: a question picks the fact that answers it, so attention should matter (paper 003, Table 2, bAbI). `reviews`:
sentiment can be had by looking at all words alike, so it should hardly matter (003, Table 1; Wiegreffe & Pinter 2019).
"""

from whence.models.training import Training

TRAININGS = {
    "stories": Training(
        data="stories", embedding_size=50, hidden_size=32, epochs=30, patience=5, learning_rate=5e-3, batch_size=50
    ),
    "reviews": Training(
        data="reviews", embedding_size=50, hidden_size=32, epochs=6, patience=2, learning_rate=3e-3, batch_size=50
    ),
}

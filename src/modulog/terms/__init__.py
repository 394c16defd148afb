"""Terms: what facts are about, as values and as the integers that stand for them."""

"""Documents of our own: a seeded generator of texts with schema, gold value and exact spans."""

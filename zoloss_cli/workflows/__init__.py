"""What users do with their own tables: fit, predict, evaluate, complexity and prune."""

"""What a person does with their own table: fit, predict, evaluate, complexity and prune."""

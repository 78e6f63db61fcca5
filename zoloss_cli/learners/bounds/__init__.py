"""What is proved of perceptrons, beside what they do: bounds on mistakes, and when to stop."""

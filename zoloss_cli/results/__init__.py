"""What is stored about an experiment: records, the store, manifests."""

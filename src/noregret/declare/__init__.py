"""What a class says of itself, once: the fields that model files keep, the parameters it takes."""

"""Training reference models, fine-tuning saved ones: options, initialisation, fitting, records, checkpoints."""

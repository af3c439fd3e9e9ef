"""Writes what Terraform deploys, `workers.auto.tfvars.json`, from the workers' declarations and settings classes."""

# From `workers.auto.tfvars.json`, which `python -m headrace.tools.terraform_inputs` writes; the module `platform` and
# workers.schema.json say what is in them.

variable "workers" {
  description = "Every worker role."
  type        = any
  nullable    = false
}

variable "migration" {
  description = "What brings the schemas up to date."
  type        = any
  nullable    = false
}

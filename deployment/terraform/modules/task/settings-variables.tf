# What the program is told, and what it must be told.

variable "environment" {
  description = "Variables of the program with their values; no secrets."
  type        = map(string)
  nullable    = false
}

variable "secrets" {
  description = "Variables of the program with the ARN of the secret that each is filled from; never a value."
  type        = map(string)
  nullable    = false

  validation {
    condition     = alltrue([for arn in values(var.secrets) : startswith(arn, "arn:")])
    error_message = "A secret is handed over by its ARN: values would be read in the state and in the console."
  }
}

variable "required_variables" {
  description = "Variables that the program cannot start without, secrets among them; each must be told."
  type        = list(string)
  nullable    = false
}

variable "prefix" {
  description = "Begins every repository's name."
  type        = string
  default     = "headrace"
  nullable    = false
}

variable "images" {
  description = "The names of the images, one repository each."
  type        = set(string)
  nullable    = false
}

variable "kms_key_arn" {
  description = "The key that encrypts the images."
  type        = string
  nullable    = false
}

variable "num_kept_images" {
  description = "How many images of each program are kept; older ones cannot be gone back to. An image's signature and SBOM count too."
  type        = number
  default     = 300
  nullable    = false

  validation {
    condition     = var.num_kept_images >= 10
    error_message = "Keep at least 10, or there is nothing to roll back to."
  }
}

variable "reader_account_ids" {
  description = "Other accounts that pull from here, 12 digits each."
  type        = set(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for id in var.reader_account_ids : can(regex("^[0-9]{12}$", id))])
    error_message = "An account id has 12 digits."
  }
}

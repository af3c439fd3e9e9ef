# One secret for each setting that some program needs as one. Terraform makes the secret and never sees its value; only
# the servers' URLs, which hold no password, are written here.

locals {
  required = toset(concat(flatten([for worker in values(var.workers) : values(worker.secrets)]), values(var.migration.secrets)))
  optional = setunion(var.optional_secrets, ["redis_url"], var.queue_database == null ? [] : ["database_queue_url"])
  urls = merge(
    { database_url = module.database.url },
    { for queue in module.queue_database : "database_queue_url" => queue.url },
  )
}

resource "aws_secretsmanager_secret" "this" {
  #checkov:skip=CKV2_AWS_57: passwords of PostgreSQL and tokens change together with the server's side, in the order that the README tells
  for_each = setunion(local.required, local.optional)

  name                    = "headrace/${var.environment_name}/${each.key}"
  description             = "The setting ${each.key} of Headrace's programs."
  kms_key_id              = aws_kms_key.this.arn
  recovery_window_in_days = 7
}

resource "aws_secretsmanager_secret_version" "urls" {
  for_each = toset(concat(["database_url"], var.queue_database == null ? [] : ["database_queue_url"]))

  secret_id     = aws_secretsmanager_secret.this[each.key].id
  secret_string = local.urls[each.key]
}

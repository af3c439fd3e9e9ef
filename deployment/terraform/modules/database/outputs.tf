output "url" {
  description = "The database without any login, as HEADRACE_DATABASE_URL wants it; no secret."
  value       = "postgresql://${aws_db_instance.this.address}:${aws_db_instance.this.port}/${var.database_name}"
}

output "identifier" {
  description = "The server's name, as a restore names its source."
  value       = aws_db_instance.this.identifier
}

output "administrator_secret_arn" {
  description = "Where AWS keeps the administrator's password; null for a restored server, until AWS has made one."
  value       = one(aws_db_instance.this.master_user_secret[*].secret_arn)
}

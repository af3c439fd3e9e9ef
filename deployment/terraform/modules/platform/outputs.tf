output "cluster_name" {
  description = "The cluster that the services run in."
  value       = aws_ecs_cluster.this.name
}

output "service_names" {
  description = "The service of each worker."
  value       = { for name, worker in module.service : name => worker.service_name }
}

output "migration" {
  description = "What `aws ecs run-task` needs to bring the schemas up to date."
  value = {
    task_definition = module.migration.task_definition_arn
    subnets         = module.network.private_subnet_ids
    security_groups = [aws_security_group.migrate.id]
  }
}

output "database" {
  description = "The database's URL without any login, and where its administrator's password is kept."
  value = {
    url                      = module.database.url
    administrator_secret_arn = module.database.administrator_secret_arn
  }
}

output "cache" {
  description = "Host and port of the cache, and its name for setting the token."
  value = {
    address    = module.cache.address
    identifier = module.cache.identifier
  }
}

output "secret_names" {
  description = "Every secret; those of URLs have their value, the others are given theirs by hand."
  value       = sort([for secret in aws_secretsmanager_secret.this : secret.name])
}

output "kms_key_arn" {
  description = "The environment's key."
  value       = aws_kms_key.this.arn
}

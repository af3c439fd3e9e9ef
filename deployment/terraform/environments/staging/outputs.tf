output "cluster_name" {
  description = "The cluster that the services run in."
  value       = module.platform.cluster_name
}

output "service_names" {
  description = "The service of each worker."
  value       = module.platform.service_names
}

output "migration" {
  description = "What `aws ecs run-task` needs to bring the schemas up to date."
  value       = module.platform.migration
}

output "database" {
  description = "The database's URL without any login, and where its administrator's password is kept."
  value       = module.platform.database
}

output "cache" {
  description = "Host and port of the cache, and its name for setting the token."
  value       = module.platform.cache
}

output "secret_names" {
  description = "Every secret; those of URLs have their value, the others are given theirs by hand."
  value       = module.platform.secret_names
}

output "registry" {
  description = "Where images are pushed to and pulled from, production's too."
  value       = local.registry
}

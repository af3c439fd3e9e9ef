output "security_group_id" {
  description = "The worker's group; the database and the cache let it in."
  value       = aws_security_group.this.id
}

output "service_name" {
  description = "The service's name in its cluster."
  value       = aws_ecs_service.this.name
}

output "log_group_name" {
  description = "Where the worker's lines go."
  value       = module.task.log_group_name
}

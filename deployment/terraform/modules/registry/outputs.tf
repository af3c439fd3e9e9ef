output "repository_urls" {
  description = "Where each image is pushed to, by its name."
  value       = { for name, repository in aws_ecr_repository.this : name => repository.repository_url }
}

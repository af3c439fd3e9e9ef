#!/usr/bin/env bash
# Brings an environment's schemas up to date, before workers of the new version start: migrate-task.sh ENVIRONMENT
# Runs the image that release.tfplan names as a task, and waits for its end. Schemas fit the release before, so that
# the workers that still run are not disturbed; where the apply never comes, nothing is lost.
set -euo pipefail

environment="$1"
cd "$(dirname "${BASH_SOURCE[0]}")/.."
folder="deployment/terraform/environments/$environment"
group="/headrace/$environment/migrate"

current="$(terraform -chdir="$folder" output -json migration)"
cluster="$(terraform -chdir="$folder" output -raw cluster_name)"
image="$(terraform -chdir="$folder" show -json release.tfplan | jq --raw-output '
    [.resource_changes[] | select(.address | endswith("module.migration.aws_ecs_task_definition.this"))]
    | first | .change.after.container_definitions | fromjson | first | .image')"

# The revision that is registered now, with the image of the release: the plan stays whole for the apply.
family="$(jq --raw-output '.task_definition | split("/") | last | split(":") | first' <<<"$current")"
registered="$(aws ecs describe-task-definition --task-definition "$family" --query taskDefinition |
    jq --arg image "$image" '{family, networkMode, cpu, memory, executionRoleArn, taskRoleArn, runtimePlatform, volumes,
        requiresCompatibilities, containerDefinitions: (.containerDefinitions | .[0].image = $image)}')"
definition="$(aws ecs register-task-definition --cli-input-json "$registered" --query taskDefinition.taskDefinitionArn --output text)"

network="$(jq --compact-output '{awsvpcConfiguration: {subnets, securityGroups: .security_groups}}' <<<"$current")"
arn="$(aws ecs run-task --cluster "$cluster" --launch-type FARGATE --task-definition "$definition" \
    --network-configuration "$network" --query 'tasks[0].taskArn' --output text)"
if [ -z "$arn" ] || [ "$arn" = None ]; then
    echo "the migration did not start: no task was placed in the cluster $cluster" >&2
    exit 1
fi
aws ecs wait tasks-stopped --cluster "$cluster" --tasks "$arn"
code="$(aws ecs describe-tasks --cluster "$cluster" --tasks "$arn" --query 'tasks[0].containers[0].exitCode' --output text)"
if [ "$code" = 0 ]; then exit; fi

if [ -z "$code" ] || [ "$code" = None ]; then
    echo "the migration did not start; why is said by: aws ecs describe-tasks --cluster $cluster --tasks $arn" >&2
else
    echo "the migration ended with $code; its last lines, of the log group $group:" >&2
    # The role that deploys may not read logs everywhere; the exit code has been told already.
    aws logs tail "$group" --since 30m --format short >&2 || true
fi
exit 1

"""The one error of the Terraform inputs."""


class TerraformInputsError(Exception):
    """The inputs cannot be made; the message names the file, worker or setting, and says what was expected."""

"""The HTTP API and its description."""

from casino.environment import whole
from casino.settings.base import env

# API requests per minute of users other than dealers; those of service accounts are a policy.
API_REQUESTS_A_MINUTE = env("API_REQUESTS_A_MINUTE", whole, 600)
REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["tables.api.access.Bearer", "tables.api.access.SignedIn"],
    "DEFAULT_PERMISSION_CLASSES": ["tables.api.access.IsStaffOrApiClient", "tables.api.access.NoActionRequired"],
    "DEFAULT_THROTTLE_CLASSES": ["tables.api.access.RequestThrottle"],
    "DEFAULT_VERSIONING_CLASS": "rest_framework.versioning.NamespaceVersioning",
    "DEFAULT_VERSION": "api",
    "ALLOWED_VERSIONS": ["api", "v1"],
    "DEFAULT_METADATA_CLASS": None,
    "EXCEPTION_HANDLER": "tables.api.errors.answer",
    "DEFAULT_RENDERER_CLASSES": ["tables.api.bodies.StructRenderer"],
    "DEFAULT_PARSER_CLASSES": ["tables.api.bodies.StructParser"],
    "DEFAULT_SCHEMA_CLASS": "tables.api.schema.DeclaredSchema",
    "TEST_REQUEST_DEFAULT_FORMAT": "json",
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Casino tables",
    "OAS_VERSION": "3.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "POSTPROCESSING_HOOKS": ["tables.api.schema.finish"],
}

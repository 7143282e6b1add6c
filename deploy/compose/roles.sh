#!/bin/sh
# The two roles and the database, when the server is made; what migrations and grants do afterwards is the house's.
set -eu
psql --quiet --no-psqlrc --set ON_ERROR_STOP=1 --username postgres --file /run/secrets/roles.sql

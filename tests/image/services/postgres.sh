#!/bin/sh
# What the public image of PostgreSQL does with its variables and arguments.
set -eu
data=/var/lib/postgresql/data
chown postgres "$data"
if [ ! -f "$data/PG_VERSION" ]; then
    echo "$POSTGRES_PASSWORD" > /tmp/password
    chmod 644 /tmp/password
    su postgres -c "initdb -D $data --username=$POSTGRES_USER --pwfile=/tmp/password --auth=scram-sha-256 --encoding=UTF8 --locale=C"
    echo "host all all all scram-sha-256" >> "$data/pg_hba.conf"
    su postgres -c "pg_ctl -D $data -w -o '-c listen_addresses= -c unix_socket_directories=/tmp' start"
    PGPASSWORD=$POSTGRES_PASSWORD psql -h /tmp -U "$POSTGRES_USER" -d postgres -c "CREATE DATABASE $POSTGRES_DB"
    su postgres -c "pg_ctl -D $data -w stop"
fi
exec setpriv --reuid=postgres --regid=postgres --clear-groups \
    postgres -D "$data" -c listen_addresses='*' -c unix_socket_directories=/tmp "$@"

# Sourced by deploy/install: sets up the letter box of a house that replicates to a head office (docs/head-office.md).
# It is a PostgreSQL server with its own user and unit, because a role that may replicate can copy the whole server.

BOX=/etc/casino-letter-box
BOX_DATA=/var/lib/letter-box/data
BOX_SOCKETS=/run/letter-box
BOX_UNIT=/etc/systemd/system/letter-box.service.d
BOX_PORT=5433

letter_box_wanted() { # whether a head office was given, now or earlier; fails if its address would admit anybody
    local part='(25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])'
    [ -n "$OFFICE" ] || ! [ -r "$BOX/pg_hba.conf" ] ||
        OFFICE=$(sed -n 's/^hostssl *letter_box *casino_fetcher *\([^ ]*\) .*/\1/p' "$BOX/pg_hba.conf")
    [ -n "$OFFICE" ] || return 1
    case $OFFICE in */*) ;; *:*) OFFICE=$OFFICE/128 ;; *) OFFICE=$OFFICE/32 ;; esac
    [[ $OFFICE =~ ^($part\.){3}$part/([1-9]|[12][0-9]|3[0-2])$ || $OFFICE =~ ^[0-9a-fA-F:]*:[0-9a-fA-F:]*/[1-9][0-9]{0,2}$ ]] ||
        fail "$OFFICE is not a head office's address: give one like 203.0.113.7 or 2001:db8::7."
    case $(setting LETTER_BOX_URL) in
        "" | postgresql://casino_letters:*@127.0.0.1:$BOX_PORT/letter_box) ;;
        *) fail "LETTER_BOX_URL in $ENVIRONMENT names a letter box elsewhere: remove it, or leave out --head-office." ;;
    esac
}

letter_box_files() { # everything that needs no running server
    say "Letter box for the head office at $OFFICE"
    getent passwd letterbox >/dev/null ||
        useradd --system --user-group --home-dir "${BOX_DATA%/*}" --no-create-home --shell /usr/sbin/nologin letterbox
    install -d -m 0750 -o root -g letterbox "$BOX"
    install -d -m 0700 -o letterbox -g letterbox "${BOX_DATA%/*}"
    install -d "$BOX_UNIT"
    box_certificate
    box_file "$BOX/postgresql.conf" < <(cat "$RELEASE"/deploy/letter-box/{postgresql,server}.conf)
    box_file "$BOX/pg_hba.conf" < <(sed "s|ADDRESS|$OFFICE|" "$RELEASE/deploy/letter-box/pg_hba.conf")
    box_file "$BOX_UNIT/office.conf" <<<"[Service]
IPAddressAllow=$OFFICE"
    [ -e "$BOX_DATA/PG_VERSION" ] || box_cluster
}

box_file() { # a settings file that the server may only read; not in a pipeline, whose subshell would lose BOX_IS_NEW
    if changed "$1" 0640; then BOX_IS_NEW=yes; fi
    chown root:letterbox "$1"
}

box_certificate() { # its own, which the head office pins: this server must not have the key of the house's pages
    local there=$BOX/certificate.pem
    openssl x509 -in "$there" -noout -checkhost "$NAME" 2>/dev/null | grep -q "does match" && return
    openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj "/CN=$NAME" \
        -addext "subjectAltName=DNS:$NAME" -keyout "$BOX/privkey.pem" -out "$there" 2>/dev/null
    chown letterbox "$BOX/privkey.pem"
    chmod 0600 "$BOX/privkey.pem"
    chmod 0644 "$there"
    BOX_IS_NEW=yes
}

box_cluster() { # made under another name, so that it is complete or missing
    local programs
    programs=$(dirname "$(printf '%s\n' /usr/lib/postgresql/*/bin/initdb | sort -V | tail -n 1)")
    rm -rf "$BOX_DATA.new"
    (cd / && runuser -u letterbox -- "$programs/initdb" --pgdata="$BOX_DATA.new" --username=letterbox --encoding=UTF8 \
        --locale=C.UTF-8 --data-checksums --auth-local=peer --auth-host=reject >/dev/null)
    mv -T "$BOX_DATA.new" "$BOX_DATA"
    BOX_IS_NEW=yes
}

letter_box_server() { # starts the server and sets roles and passwords; writes LETTER_BOX_URL last
    local writer fetcher connection=$BOX/connection
    systemctl daemon-reload
    [ -z "$BOX_IS_NEW" ] || systemctl restart letter-box
    systemctl enable -q --now letter-box
    writer=$(setting LETTER_BOX_URL | sed -n 's|^[^:]*://[^:]*:\([^@]*\)@.*|\1|p')
    [ -n "$writer" ] || writer=$(secret)
    fetcher=$(sed -n 's/.* password=\([^ ]*\).*/\1/p' "$connection" 2>/dev/null || true)
    [ -n "$fetcher" ] || fetcher=$(secret)
    box_sql postgres <<<"SELECT 'CREATE DATABASE letter_box' WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = 'letter_box') \gexec"
    box_sql letter_box <"$RELEASE/deploy/letter-box/letter-box.sql"
    box_sql letter_box <<<"ALTER ROLE casino_letters PASSWORD '$writer'; ALTER ROLE casino_fetcher PASSWORD '$fetcher';"
    changed "$connection" 0600 <<END || true
host=$NAME port=$BOX_PORT dbname=letter_box user=casino_fetcher password=$fetcher sslmode=verify-full
END
    [ -n "$(setting LETTER_BOX_URL)" ] || {
        echo "LETTER_BOX_URL=postgresql://casino_letters:$writer@127.0.0.1:$BOX_PORT/letter_box" >>"$ENVIRONMENT"
        NEW_SETTINGS=yes
    }
    echo "Send $connection and $BOX/certificate.pem to the head office by a secure channel (docs/head-office.md)."
}

box_sql() { # runs statements from standard input as the server's superuser
    (cd / && runuser -u letterbox -- psql -q -X -v ON_ERROR_STOP=1 -h "$BOX_SOCKETS" -p "$BOX_PORT" -U letterbox "$1" >/dev/null)
}

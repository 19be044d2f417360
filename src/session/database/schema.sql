-- The tables, functions and rights of comail's sessions.
--
-- Three roles, which logins are granted: `comail_owner` redacts, `comail_judge` appends, and
-- `comail_reader` reads. Nobody updates the ledger but `comail.redact`, which appends the event too.
DO $$
DECLARE
    wanted text;
BEGIN
    FOREACH wanted IN ARRAY ARRAY['comail_owner', 'comail_judge', 'comail_reader'] LOOP
        IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = wanted) THEN
            EXECUTE format('CREATE ROLE %I NOLOGIN', wanted);
        END IF;
    END LOOP;
    -- Whether the role can be taken depends on more than membership since PostgreSQL 16, so it is tried.
    BEGIN
        SET LOCAL ROLE comail_owner;
        RESET ROLE;
    EXCEPTION WHEN insufficient_privilege THEN
        BEGIN
            EXECUTE format('GRANT comail_owner TO %I', current_user);
        EXCEPTION WHEN insufficient_privilege THEN
            RAISE EXCEPTION 'only comail_owner makes the tables: log in as a member, or GRANT comail_owner TO % as a superuser',
                quote_ident(current_user) USING ERRCODE = '42501';
        END;
    END;
END $$;

CREATE SCHEMA comail AUTHORIZATION comail_owner;
SET LOCAL ROLE comail_owner;

CREATE TABLE comail.format (version integer NOT NULL);
INSERT INTO comail.format VALUES (3);

CREATE TABLE comail.session (
    -- A session that is made again under the same name has another one.
    id bigint PRIMARY KEY DEFAULT floor(random() * 9e15)::bigint,
    name text NOT NULL UNIQUE,
    lines bigint NOT NULL DEFAULT 0,
    -- The hash of the last line, which the next line names and every mirror must have.
    head bytea NOT NULL DEFAULT sha256(''),
    -- How often lines were redacted. A mirror that knows another number starts over.
    redactions bigint NOT NULL DEFAULT 0,
    created timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- The lines of ledger.jsonl, the same bytes.
CREATE TABLE comail.ledger (
    session bigint NOT NULL REFERENCES comail.session,
    seq bigint NOT NULL,
    line text NOT NULL,
    PRIMARY KEY (session, seq)
);

-- Packed bodies, by the SHA-256 of what was packed.
CREATE TABLE comail.evidence (
    session bigint NOT NULL REFERENCES comail.session,
    digest bytea NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (session, digest)
);
-- They are compressed already.
ALTER TABLE comail.evidence ALTER COLUMN body SET STORAGE EXTERNAL;

-- session.json, the copies of lists, and tokens.
CREATE TABLE comail.file (
    session bigint NOT NULL REFERENCES comail.session,
    name text NOT NULL CHECK (name ~ '^(session[.]json|source[^/]*|tokens/[^/]+)$'),
    body bytea NOT NULL,
    PRIMARY KEY (session, name)
);

-- Whether a line or session.json names the copy of a list.
CREATE FUNCTION comail.is_recorded(whose bigint, list text) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = comail, pg_temp AS $$
    SELECT EXISTS (
        SELECT FROM comail.ledger l
        WHERE l.session = whose AND position('"copy":' || to_json(list) IN l.line) > 0
    ) OR EXISTS (
        SELECT FROM comail.file f
        WHERE f.session = whose AND f.name = 'session.json'
            AND position(to_json(list)::text IN convert_from(f.body, 'UTF8')) > 0
    )
$$;

-- When each host was last asked, until when a judge may be asking it, and the process of the server
-- that the judge is connected to.
CREATE TABLE comail.host (
    session bigint NOT NULL REFERENCES comail.session,
    name text NOT NULL,
    asked timestamptz NOT NULL DEFAULT '-infinity',
    busy timestamptz NOT NULL DEFAULT '-infinity',
    holder integer NOT NULL DEFAULT 0,
    PRIMARY KEY (session, name)
);

-- Locks the head of a ledger until the transaction ends. Others may still add evidence, whose foreign
-- key would wait for a stronger lock. The time is taken after the wait,
-- in milliseconds since 1970.
CREATE FUNCTION comail.hold(wanted text)
RETURNS TABLE (id bigint, lines bigint, head bytea, redactions bigint, at bigint, version integer)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = comail, pg_temp AS $$
DECLARE
    held comail.session;
BEGIN
    SELECT * INTO held FROM comail.session s WHERE s.name = wanted FOR NO KEY UPDATE;
    IF FOUND THEN
        RETURN QUERY SELECT held.id, held.lines, held.head, held.redactions,
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint, f.version
            FROM comail.format f;
    END IF;
END $$;

-- Appends lines after the line with the hash `prev`; the last of them has the hash `last`.
CREATE FUNCTION comail.append(whose bigint, start bigint, prev bytea, added text[], last bytea)
RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = comail, pg_temp AS $$
BEGIN
    UPDATE comail.session s SET lines = s.lines + cardinality(added), head = last
        WHERE s.id = whose AND s.lines = start AND s.head = prev;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'somebody else appended to the ledger' USING ERRCODE = '40001';
    END IF;
    IF EXISTS (
        SELECT FROM unnest(added) WITH ORDINALITY AS new (text, n)
        WHERE NOT starts_with(text, format('{"seq":%s,"at":', start + n - 1))
            OR position(E'\n' IN text) > 0
    ) THEN
        RAISE EXCEPTION 'not a line of a ledger' USING ERRCODE = '22023';
    END IF;
    INSERT INTO comail.ledger
        SELECT whose, start + n - 1, text FROM unnest(added) WITH ORDINALITY AS new (text, n);
END $$;

-- Replaces lines and files that were redacted, removes bodies, and appends the line that says so.
CREATE FUNCTION comail.redact(
    whose bigint, start bigint, places bigint[], redacted text[], gone bytea[],
    names text[], bodies bytea[], prev bytea, added text, last bytea
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = comail, pg_temp AS $$
BEGIN
    UPDATE comail.ledger l SET line = new.text
        FROM unnest(places, redacted) AS new (seq, text)
        WHERE l.session = whose AND l.seq = new.seq;
    DELETE FROM comail.evidence e WHERE e.session = whose AND e.digest = ANY (gone);
    -- A list that was sent and never recorded may have the address too.
    DELETE FROM comail.file f WHERE f.session = whose AND f.name LIKE 'source%'
        AND NOT comail.is_recorded(whose, f.name);
    UPDATE comail.file f SET body = new.body
        FROM unnest(names, bodies) AS new (name, body)
        WHERE f.session = whose AND f.name = new.name;
    UPDATE comail.session s SET redactions = s.redactions + 1 WHERE s.id = whose;
    PERFORM comail.append(whose, start, prev, ARRAY[added], last);
END $$;

-- Takes the right to ask a host, if no other judge has it and the last request began long enough ago.
-- Otherwise returns how many seconds to wait at least. The right ends with the connection of a judge
-- that was killed, and by itself where nobody notices that.
CREATE FUNCTION comail.turn(whose bigint, host text, gap double precision, keep double precision)
RETURNS TABLE (wait double precision, begun double precision)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = comail, pg_temp AS $$
DECLARE
    found comail.host;
    time timestamptz;
    free timestamptz;
BEGIN
    INSERT INTO comail.host (session, name) VALUES (whose, host) ON CONFLICT DO NOTHING;
    SELECT * INTO found FROM comail.host h WHERE h.session = whose AND h.name = host FOR UPDATE;
    time := clock_timestamp();
    free := found.asked + gap * interval '1 second';
    IF found.busy > free AND EXISTS (SELECT FROM pg_stat_get_activity(found.holder)) THEN
        free := found.busy;
    END IF;
    begun := extract(epoch FROM found.asked);
    IF free > time THEN
        wait := extract(epoch FROM free - time);
    ELSE
        wait := 0;
        UPDATE comail.host h SET asked = time, busy = time + least(keep, 600) * interval '1 second',
                holder = pg_backend_pid()
            WHERE h.session = whose AND h.name = host;
    END IF;
    RETURN NEXT;
END $$;

CREATE FUNCTION comail.end_turn(whose bigint, host text) RETURNS void
LANGUAGE sql SECURITY DEFINER SET search_path = comail, pg_temp AS $$
    UPDATE comail.host h SET busy = '-infinity' WHERE h.session = whose AND h.name = host
$$;

REVOKE ALL ON ALL FUNCTIONS IN SCHEMA comail FROM PUBLIC;
GRANT USAGE ON SCHEMA comail TO comail_judge, comail_reader;
GRANT SELECT ON ALL TABLES IN SCHEMA comail TO comail_judge, comail_reader;
-- A judge makes and revokes tokens, and adds a list. One that was not recorded yet may be sent again.
GRANT INSERT, DELETE ON comail.file TO comail_judge;
ALTER TABLE comail.file ENABLE ROW LEVEL SECURITY;
CREATE POLICY read ON comail.file FOR SELECT USING (true);
CREATE POLICY add ON comail.file FOR INSERT WITH CHECK (name <> 'session.json');
CREATE POLICY remove ON comail.file FOR DELETE
    USING (name LIKE 'tokens/%' OR (name LIKE 'source%' AND NOT comail.is_recorded(session, name)));
GRANT INSERT ON comail.evidence TO comail_judge;
GRANT EXECUTE ON FUNCTION
    comail.hold(text),
    comail.append(bigint, bigint, bytea, text[], bytea),
    comail.is_recorded(bigint, text),
    comail.turn(bigint, text, double precision, double precision),
    comail.end_turn(bigint, text)
    TO comail_judge;
RESET ROLE;

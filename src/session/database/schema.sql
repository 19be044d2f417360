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
    IF NOT pg_has_role(current_user, 'comail_owner', 'MEMBER') THEN
        EXECUTE format('GRANT comail_owner TO %I', current_user);
    END IF;
END $$;

CREATE SCHEMA comail AUTHORIZATION comail_owner;
SET LOCAL ROLE comail_owner;

CREATE TABLE comail.format (version integer NOT NULL);
INSERT INTO comail.format VALUES (1);

CREATE TABLE comail.session (
    -- A session that is made again under the same name has another one.
    id bigint PRIMARY KEY DEFAULT floor(random() * 9e15)::bigint,
    name text NOT NULL UNIQUE,
    lines bigint NOT NULL DEFAULT 0,
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
    name text NOT NULL,
    body bytea NOT NULL,
    PRIMARY KEY (session, name)
);

-- When each host was last asked, and until when a judge may be asking it.
CREATE TABLE comail.host (
    session bigint NOT NULL REFERENCES comail.session,
    name text NOT NULL,
    asked timestamptz NOT NULL DEFAULT '-infinity',
    busy timestamptz NOT NULL DEFAULT '-infinity',
    PRIMARY KEY (session, name)
);

-- Locks the head of a ledger until the transaction ends. Others may still add evidence, whose foreign
-- key would wait for a stronger lock. The time is taken after the wait,
-- in milliseconds since 1970.
CREATE FUNCTION comail.hold(wanted text)
RETURNS TABLE (id bigint, lines bigint, redactions bigint, at bigint)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = comail, pg_temp AS $$
DECLARE
    held comail.session;
BEGIN
    SELECT * INTO held FROM comail.session s WHERE s.name = wanted FOR NO KEY UPDATE;
    IF FOUND THEN
        RETURN QUERY SELECT held.id, held.lines, held.redactions,
            (extract(epoch FROM clock_timestamp()) * 1000)::bigint;
    END IF;
END $$;

CREATE FUNCTION comail.append(whose bigint, start bigint, added text[]) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = comail, pg_temp AS $$
BEGIN
    UPDATE comail.session s SET lines = s.lines + cardinality(added)
        WHERE s.id = whose AND s.lines = start;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'somebody else appended to the ledger' USING ERRCODE = '40001';
    END IF;
    INSERT INTO comail.ledger
        SELECT whose, start + n - 1, text FROM unnest(added) WITH ORDINALITY AS new (text, n);
END $$;

CREATE FUNCTION comail.redact(
    whose bigint, start bigint, places bigint[], redacted text[], gone bytea[], added text
) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = comail, pg_temp AS $$
BEGIN
    UPDATE comail.ledger l SET line = new.text
        FROM unnest(places, redacted) AS new (seq, text)
        WHERE l.session = whose AND l.seq = new.seq;
    DELETE FROM comail.evidence e WHERE e.session = whose AND e.digest = ANY (gone);
    UPDATE comail.session s SET redactions = s.redactions + 1 WHERE s.id = whose;
    PERFORM comail.append(whose, start, ARRAY[added]);
END $$;

-- Takes the right to ask a host, if no other judge has it and the last request began long enough ago.
-- Otherwise returns how many seconds to wait at least. The right ends by itself, because a judge that
-- was killed cannot give it back.
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
    free := greatest(found.busy, found.asked + gap * interval '1 second');
    begun := extract(epoch FROM found.asked);
    IF free > time THEN
        wait := extract(epoch FROM free - time);
    ELSE
        wait := 0;
        UPDATE comail.host h SET asked = time, busy = time + keep * interval '1 second'
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
-- A token may be revoked, and a newer list is another file. Nobody but the owner replaces a file.
GRANT INSERT, DELETE ON comail.file TO comail_judge;
GRANT INSERT ON comail.evidence TO comail_judge;
GRANT EXECUTE ON FUNCTION
    comail.hold(text),
    comail.append(bigint, bigint, text[]),
    comail.turn(bigint, text, double precision, double precision),
    comail.end_turn(bigint, text)
    TO comail_judge;
RESET ROLE;

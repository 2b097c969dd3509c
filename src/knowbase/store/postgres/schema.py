"""The schema as numbered steps; `upgrade.py` runs those that are missing.

Text compares by its bytes (`COLLATE "C"`), as SQLite compares it. Moments are text of a fixed
width, as everywhere in knowbase. `base_id` leads every key: several bases share one database.
Where the tables lie in a cluster is told by `cluster.py`, and none of it is a step.
"""

LOCK = 0x6B6E6F77  # "know"

_STEP_1 = """
CREATE TABLE bases (
    id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text COLLATE "C" NOT NULL UNIQUE,
    next_seq bigint NOT NULL DEFAULT 1,
    next_chunk bigint NOT NULL DEFAULT 1,
    next_word integer NOT NULL DEFAULT 1,
    chunks bigint NOT NULL DEFAULT 0,
    length bigint NOT NULL DEFAULT 0
);
CREATE TABLE models (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    id integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    revision text COLLATE "C" NOT NULL,
    dimensions integer NOT NULL,
    PRIMARY KEY (base_id, id)
);
CREATE TABLE documents (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    seq bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    code text COLLATE "C" NOT NULL,
    code_key text COLLATE "C" GENERATED ALWAYS AS (lower(code)) STORED,
    title text COLLATE "C" NOT NULL,
    type text COLLATE "C" NOT NULL,
    tags text[] COLLATE "C" NOT NULL,
    path text COLLATE "C",
    created_at text COLLATE "C" NOT NULL,
    updated_at text COLLATE "C" NOT NULL,
    parent text COLLATE "C",
    parent_key text COLLATE "C" GENERATED ALWAYS AS (lower(parent)) STORED,
    project text COLLATE "C",
    roles text[] COLLATE "C" NOT NULL,
    confidence double precision,
    archived boolean NOT NULL,
    expires_at text COLLATE "C",
    superseded_by text COLLATE "C",
    valid_until text COLLATE "C",
    scope text COLLATE "C" NOT NULL,
    sector text COLLATE "C",
    tier text COLLATE "C",
    salience double precision NOT NULL,
    access_count bigint NOT NULL DEFAULT 0,
    last_accessed_at text COLLATE "C",
    confirmed bigint NOT NULL DEFAULT 0,
    deleted_at text COLLATE "C",
    content_hash text COLLATE "C" NOT NULL,
    metadata text NOT NULL,
    said text NOT NULL DEFAULT '{}',
    PRIMARY KEY (base_id, seq),
    UNIQUE (base_id, id),
    UNIQUE (base_id, code_key),
    UNIQUE (base_id, path)
);
CREATE INDEX documents_newest ON documents (base_id, updated_at DESC, seq);
CREATE INDEX documents_created ON documents (base_id, project, created_at, seq);
CREATE INDEX documents_type ON documents (base_id, type);
CREATE INDEX documents_parent ON documents (base_id, parent_key) WHERE parent_key IS NOT NULL;
CREATE INDEX documents_content ON documents (base_id, content_hash);
CREATE INDEX documents_expiring ON documents (base_id, expires_at, seq)
    WHERE expires_at IS NOT NULL;
CREATE INDEX documents_with_a_lifecycle ON documents (base_id, seq)
    WHERE archived OR expires_at IS NOT NULL OR superseded_by IS NOT NULL
    OR valid_until IS NOT NULL OR deleted_at IS NOT NULL;
CREATE INDEX documents_tags ON documents USING gin (tags);
CREATE INDEX documents_roles ON documents USING gin (roles);
CREATE TABLE links (
    base_id integer NOT NULL,
    document bigint NOT NULL,
    target text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    PRIMARY KEY (base_id, document, target, kind),
    FOREIGN KEY (base_id, document) REFERENCES documents (base_id, seq) ON DELETE CASCADE
);
CREATE TABLE chunks (
    base_id integer NOT NULL,
    id bigint NOT NULL,
    document bigint NOT NULL,
    position integer NOT NULL,
    slug text COLLATE "C" NOT NULL,
    chunk_index integer NOT NULL,
    model integer,
    hash text COLLATE "C" NOT NULL,
    line integer NOT NULL,
    page integer,
    tokens integer NOT NULL,
    overlap integer NOT NULL,
    title text COLLATE "C" NOT NULL,
    heading text COLLATE "C",
    header text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    terms text COLLATE "C" NOT NULL,
    length integer NOT NULL,
    entry tsvector GENERATED ALWAYS AS (to_tsvector('english', text)) STORED,
    PRIMARY KEY (base_id, id),
    UNIQUE (base_id, document, slug, chunk_index),
    FOREIGN KEY (base_id, document) REFERENCES documents (base_id, seq) ON DELETE CASCADE
);
CREATE INDEX chunks_hash ON chunks (base_id, hash) WHERE model IS NOT NULL;
CREATE INDEX chunks_entry ON chunks USING gin (entry);
CREATE TABLE words (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    id integer NOT NULL,
    stem text COLLATE "C" NOT NULL,
    chunks bigint NOT NULL,
    PRIMARY KEY (base_id, id)
);
CREATE UNIQUE INDEX words_stem ON words (base_id, stem);
CREATE TABLE postings (
    base_id integer NOT NULL,
    word integer NOT NULL,
    chunk bigint NOT NULL,
    length integer NOT NULL,
    title smallint NOT NULL,
    heading smallint NOT NULL,
    text smallint NOT NULL,
    terms smallint NOT NULL,
    PRIMARY KEY (base_id, word, chunk)
);
CREATE INDEX postings_chunk ON postings (base_id, chunk);
CREATE TABLE sources (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    path text COLLATE "C" NOT NULL,
    tags text[] COLLATE "C" NOT NULL,
    parent text COLLATE "C",
    tree boolean NOT NULL,
    PRIMARY KEY (base_id, path)
);
CREATE TABLE files (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    path text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    size bigint NOT NULL,
    mtime_ns bigint NOT NULL,
    sha256 text COLLATE "C" NOT NULL,
    document text COLLATE "C",
    problem text COLLATE "C",
    excluded boolean NOT NULL,
    PRIMARY KEY (base_id, path)
);
CREATE TABLE sessions (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    id text COLLATE "C" NOT NULL,
    project text COLLATE "C",
    started_at text COLLATE "C" NOT NULL,
    ended_at text COLLATE "C",
    summary text COLLATE "C",
    PRIMARY KEY (base_id, id)
);
CREATE INDEX sessions_started ON sessions (base_id, started_at DESC, id);
CREATE TABLE uses (
    base_id integer NOT NULL,
    id bigint GENERATED ALWAYS AS IDENTITY,
    session text COLLATE "C" NOT NULL,
    document bigint NOT NULL,
    usage text COLLATE "C" NOT NULL,
    used_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (base_id, session, document, usage),
    FOREIGN KEY (base_id, session) REFERENCES sessions (base_id, id) ON DELETE CASCADE,
    FOREIGN KEY (base_id, document) REFERENCES documents (base_id, seq) ON DELETE CASCADE
);
CREATE INDEX uses_latest ON uses (base_id, document, used_at DESC, id DESC);
CREATE TABLE verdicts (
    base_id integer NOT NULL,
    document bigint NOT NULL,
    occasion text COLLATE "C" NOT NULL,
    good boolean NOT NULL,
    given_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (base_id, document, occasion),
    FOREIGN KEY (base_id, document) REFERENCES documents (base_id, seq) ON DELETE CASCADE
);
CREATE TABLE relations (
    base_id integer NOT NULL,
    source bigint NOT NULL,
    target bigint NOT NULL,
    relation text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (base_id, source, target, relation),
    FOREIGN KEY (base_id, source) REFERENCES documents (base_id, seq) ON DELETE CASCADE,
    FOREIGN KEY (base_id, target) REFERENCES documents (base_id, seq) ON DELETE CASCADE
);
CREATE INDEX relations_target ON relations (base_id, target, source);
"""

_STEP_2 = """
ALTER TABLE models ADD COLUMN source text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE models ADD COLUMN active boolean NOT NULL DEFAULT false;
UPDATE models m SET active = true
    WHERE id = (SELECT min(id) FROM models o WHERE o.base_id = m.base_id);
DROP INDEX chunks_hash;
ALTER TABLE chunks DROP COLUMN model;
CREATE INDEX chunks_hash ON chunks (base_id, hash);
"""

_STEP_3 = """
CREATE TABLE names (
    base_id integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind smallint NOT NULL,
    document bigint NOT NULL,
    PRIMARY KEY (base_id, name, kind, document),
    FOREIGN KEY (base_id, document) REFERENCES documents (base_id, seq) ON DELETE CASCADE
);
CREATE INDEX names_document ON names (base_id, document);
CREATE TABLE mentions (
    base_id integer NOT NULL,
    document bigint NOT NULL,
    name text COLLATE "C" NOT NULL,
    relation text COLLATE "C" NOT NULL,
    target text COLLATE "C" NOT NULL,
    origin text COLLATE "C" NOT NULL,
    reach smallint NOT NULL,
    inverse boolean NOT NULL,
    weight double precision NOT NULL,
    PRIMARY KEY (base_id, document, name, relation, target, origin),
    FOREIGN KEY (base_id, document) REFERENCES documents (base_id, seq) ON DELETE CASCADE
);
CREATE INDEX mentions_name ON mentions (base_id, name, document);
CREATE TABLE edges (
    base_id integer NOT NULL,
    source bigint NOT NULL,
    target bigint NOT NULL,
    relation text COLLATE "C" NOT NULL,
    weight double precision NOT NULL,
    origin text COLLATE "C" NOT NULL,
    PRIMARY KEY (base_id, source, target, relation),
    FOREIGN KEY (base_id, source) REFERENCES documents (base_id, seq) ON DELETE CASCADE,
    FOREIGN KEY (base_id, target) REFERENCES documents (base_id, seq) ON DELETE CASCADE
);
CREATE INDEX edges_target ON edges (base_id, target, source);
CREATE TABLE unlinked (
    base_id integer NOT NULL,
    document bigint NOT NULL,
    PRIMARY KEY (base_id, document),
    FOREIGN KEY (base_id, document) REFERENCES documents (base_id, seq) ON DELETE CASCADE
);
CREATE TABLE graph (
    base_id integer PRIMARY KEY REFERENCES bases ON DELETE CASCADE,
    similar_above double precision,
    version bigint NOT NULL DEFAULT 0
);
"""

_STEP_4 = """
CREATE TABLE saved (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL,
    query text COLLATE "C" NOT NULL,
    options text NOT NULL,
    created_at text COLLATE "C" NOT NULL,
    updated_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (base_id, name)
);
CREATE TABLE moving (
    base_id integer PRIMARY KEY REFERENCES bases ON DELETE CASCADE,
    source text COLLATE "C" NOT NULL
);
"""

_STEP_5 = """
ALTER TABLE documents ADD COLUMN split_by text COLLATE "C" NOT NULL DEFAULT '';
UPDATE documents SET split_by = 'types:' WHERE metadata LIKE '%"type":%';
"""

_STEP_6 = """
ALTER TABLE files ADD COLUMN inode bigint;
ALTER TABLE files ADD COLUMN ctime_ns bigint;
"""

_STEP_7 = """
ALTER TABLE documents ADD COLUMN seal bytea, ADD COLUMN text_seal bytea, ADD COLUMN use_seal bytea;
DO $$
DECLARE one text;
BEGIN
    FOR one IN SELECT tablename FROM pg_tables
        WHERE schemaname = current_schema() AND tablename ~ '^vectors_[0-9]+$'
    LOOP
        EXECUTE format('ALTER TABLE %I ADD COLUMN IF NOT EXISTS seal bytea', one);
    END LOOP;
END $$;
"""

# Why a file is left out is kept, so that it is said once, and by kb status.
_STEP_8 = """
ALTER TABLE files ADD COLUMN skipped text COLLATE "C";
"""

# What somebody decided of a memory.
_STEP_9 = """
ALTER TABLE documents ADD COLUMN judged text COLLATE "C";
"""

# A document is linked with its nearest ones alone: which those are is found when it is asked for.
_STEP_10 = """
ALTER TABLE graph ADD COLUMN similar_most integer;
UPDATE graph SET similar_above = NULL;
"""

# Numbers by name: what the base has learnt of its answers.
_STEP_11 = """
CREATE TABLE calibration (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    name text COLLATE "C" NOT NULL,
    number double precision NOT NULL,
    made_at text COLLATE "C" NOT NULL,
    PRIMARY KEY (base_id, name)
);
"""

# Which texts a worker is embedding, and until when they are left to it.
_STEP_12 = """
CREATE TABLE claims (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    model integer NOT NULL,
    hash text COLLATE "C" NOT NULL,
    holder text COLLATE "C" NOT NULL,
    ends timestamptz NOT NULL,
    PRIMARY KEY (base_id, model, hash)
);
"""

# Of a file that made no document, its hash and its readers are two things. And what several
# processes would do at once is done by the one that holds a lease.
_STEP_13 = """
ALTER TABLE files ADD COLUMN readers text COLLATE "C";
UPDATE files SET readers = split_part(sha256, ' ', 1), sha256 = split_part(sha256, ' ', 2)
    WHERE sha256 LIKE 'readers:% %';
CREATE TABLE leases (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    work text COLLATE "C" NOT NULL,
    holder text COLLATE "C" NOT NULL,
    until timestamptz NOT NULL,
    PRIMARY KEY (base_id, work)
);
"""

# What was, beside what is: a search that asks for no other moment never reads it.
_STEP_14 = """
CREATE TABLE changes (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    number bigint NOT NULL,
    at text COLLATE "C" NOT NULL,
    who text COLLATE "C" NOT NULL,
    surface text COLLATE "C" NOT NULL,
    command text COLLATE "C" NOT NULL,
    session text COLLATE "C",
    run text COLLATE "C" NOT NULL,
    touched text COLLATE "C" NOT NULL,
    next_seq bigint NOT NULL,
    next_chunk bigint NOT NULL,
    PRIMARY KEY (base_id, number)
);
CREATE INDEX changes_next_seq ON changes (base_id, next_seq, number);
CREATE INDEX changes_run ON changes (base_id, run);
CREATE TABLE versions (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    document bigint NOT NULL,
    until bigint NOT NULL,
    since bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    code text COLLATE "C",
    path text COLLATE "C",
    data text COLLATE "C",
    places text COLLATE "C",
    seal bytea NOT NULL,
    PRIMARY KEY (base_id, document, until)
);
CREATE INDEX versions_until ON versions (base_id, until);
CREATE INDEX versions_id ON versions (base_id, id);
CREATE INDEX versions_code ON versions (base_id, lower(code));
CREATE TABLE past_texts (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    key bytea NOT NULL,
    heading text COLLATE "C",
    header text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    PRIMARY KEY (base_id, key)
);
CREATE TABLE past_chunks (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    chunk bigint NOT NULL,
    until bigint NOT NULL,
    document bigint NOT NULL,
    slug text COLLATE "C" NOT NULL,
    chunk_index integer NOT NULL,
    overlap integer NOT NULL,
    tokens integer NOT NULL,
    hash text COLLATE "C" NOT NULL,
    key bytea NOT NULL,
    PRIMARY KEY (base_id, chunk, until)
);
CREATE INDEX past_chunks_document ON past_chunks (base_id, document, until);
CREATE INDEX past_chunks_until ON past_chunks (base_id, until);
CREATE INDEX past_chunks_key ON past_chunks (base_id, key);
CREATE INDEX past_chunks_hash ON past_chunks (base_id, hash);
CREATE TABLE past_vectors (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    hash text COLLATE "C" NOT NULL,
    model integer NOT NULL,
    embedding bytea NOT NULL,
    PRIMARY KEY (base_id, hash, model),
    FOREIGN KEY (base_id, model) REFERENCES models (base_id, id) ON DELETE CASCADE
);
INSERT INTO changes SELECT id, 0, CASE WHEN next_seq > 1 THEN
    to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') ELSE '' END,
    '', '', '', NULL, '', '[]', next_seq, next_chunk FROM bases;
"""

# Of each word, the chunks of a part of the base in one row (`blocks.py`), instead of a row for
# each of them.
_STEP_15 = """
CREATE TABLE word_segments (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    id integer NOT NULL,
    chunks integer NOT NULL,
    first bigint NOT NULL,
    last bigint NOT NULL,
    gone bigint[] NOT NULL DEFAULT '{}',
    fresh bytea,
    wide bytea,
    PRIMARY KEY (base_id, id)
);
CREATE TABLE word_blocks (
    base_id integer NOT NULL,
    segment integer NOT NULL,
    word integer NOT NULL,
    narrow bytea NOT NULL,
    wide bytea NOT NULL,
    PRIMARY KEY (base_id, segment, word)
);
ALTER TABLE word_segments ALTER COLUMN fresh SET STORAGE EXTERNAL;
ALTER TABLE word_blocks ALTER COLUMN narrow SET STORAGE EXTERNAL;
INSERT INTO word_segments (base_id, id, chunks, first, last)
    SELECT base_id, chunk / 16384 + 1, count(DISTINCT chunk), min(chunk), max(chunk)
    FROM postings GROUP BY base_id, chunk / 16384;
INSERT INTO word_blocks
    SELECT base_id, chunk / 16384 + 1, word,
        coalesce(string_agg(int8send((chunk << 32) | (length::bigint << 16)
            | (text::bigint << 8) | (title << 6) | (heading << 4) | terms),
            ''::bytea ORDER BY chunk) FILTER (WHERE fits), ''),
        coalesce(string_agg(int4send(word) || int8send(chunk) || int4send(length)
            || int2send(title) || int2send(heading) || int2send(text) || int2send(terms),
            ''::bytea ORDER BY chunk) FILTER (WHERE NOT fits), '')
    FROM (SELECT *, chunk < 2147483648 AND length < 65536 AND text < 256 AND title < 4
        AND heading < 4 AND terms < 16 AS fits FROM postings) p
    GROUP BY base_id, word, chunk / 16384;
DROP TABLE postings;
"""

# What chunks said is found by its words, as what they say is.
_STEP_16 = """
ALTER TABLE past_chunks ADD COLUMN title text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN terms text COLLATE "C" NOT NULL DEFAULT '',
    ADD COLUMN length integer NOT NULL DEFAULT 0;
CREATE TABLE past_postings (
    base_id integer NOT NULL REFERENCES bases ON DELETE CASCADE,
    word integer NOT NULL,
    chunk bigint NOT NULL,
    until bigint NOT NULL,
    length integer NOT NULL,
    title smallint NOT NULL,
    heading smallint NOT NULL,
    text smallint NOT NULL,
    terms smallint NOT NULL,
    PRIMARY KEY (base_id, word, chunk, until)
);
CREATE INDEX past_postings_chunk ON past_postings (base_id, chunk, until);
"""

# How many documents of a moment are no longer kept is said with each answer.
_STEP_17 = """
CREATE INDEX IF NOT EXISTS versions_lost ON versions (base_id, until) WHERE data IS NULL;
"""

# Only a profile that ranks by cover density wants English words, and builds an index of them then.
_STEP_18 = """
DROP INDEX IF EXISTS chunks_entry;
ALTER TABLE chunks DROP COLUMN IF EXISTS entry;
"""

# What is worked out from documents goes with them by a statement (`links.py`): to check a key for
# each row took longer than to store it. Most words are counted anew by every batch: room for that
# beside each of them spares their indexes.
_STEP_19 = """
ALTER TABLE names DROP CONSTRAINT IF EXISTS names_base_id_document_fkey;
ALTER TABLE mentions DROP CONSTRAINT IF EXISTS mentions_base_id_document_fkey;
ALTER TABLE edges DROP CONSTRAINT IF EXISTS edges_base_id_source_fkey;
ALTER TABLE edges DROP CONSTRAINT IF EXISTS edges_base_id_target_fkey;
ALTER TABLE words SET (fillfactor = 50);
"""

STEPS = (
    _STEP_1, _STEP_2, _STEP_3, _STEP_4, _STEP_5, _STEP_6, _STEP_7, _STEP_8, _STEP_9, _STEP_10,
    _STEP_11, _STEP_12, _STEP_13, _STEP_14, _STEP_15, _STEP_16, _STEP_17, _STEP_18, _STEP_19,
)  # fmt: skip
WITH_A_GRAPH = 3

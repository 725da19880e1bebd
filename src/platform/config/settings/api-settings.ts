import { gib, hours, integer, mib, origin, seconds, secret, text } from '../setting.ts'
import { signInSettings } from './sign-in-settings.ts'

/** The key of secrets at rest. */
export const secretSettings = {
  secret_key: secret({
    min_characters: 32,
    reason:
      'Key that encrypts the token-signing keys, the secrets of notification channels and a generated key of certifications at rest. Set the same value in every pod. Role `all` generates one in its data folder.',
  }),
}

/** Settings of sign-in and keys. */
export const accessSettings = {
  ...signInSettings,
  bootstrap_email: text({
    unit: 'e-mail',
    default: 'admin@looptrace.local',
    reason: 'Login of the first administrator.',
  }),
  bootstrap_password: secret({
    min_characters: 12,
    reason:
      'Password of the first administrator. When unset, a random one is generated and shown once.',
  }),
  bootstrap_project_id: text({
    unit: 'UUID',
    reason: 'Id of the first project. When unset, a new one is generated.',
  }),
  bootstrap_project_key: secret({
    min_characters: 44,
    reason:
      'Key of the first project, `lt_…`. When unset, a random one is generated and shown once.',
  }),
  bootstrap_secret: text({
    unit: 'namespace/name',
    reason:
      'Kubernetes Secret for the first login and the shared keys. `migrate` creates it when it is missing, and otherwise uses its values.',
  }),
  bootstrap_directory: text({
    unit: 'path',
    reason:
      'Folder into which `migrate` and `migrate secret` copy the values of that Secret, one file of mode 0400 per key. The chart shares it, in memory, with the containers of the pod.',
  }),
}

/** Settings of mails: links to reset a password, and notifications. */
export const mailSettings = {
  smtp_url: secret({
    reason:
      'Mail server, `smtps://user:password@host:465` or `smtp://user:password@host:587`. `smtp://` requires STARTTLS, except on this machine or with `?tls=off`. When unset, no mails are sent.',
  }),
  mail_from: text({
    unit: 'e-mail',
    reason:
      'Sender of mails: `Looptrace <looptrace@example.com>`. Required with LOOPTRACE_SMTP_URL.',
  }),
  public_url: origin({
    unit: 'origin',
    reason:
      'Address under which people open Looptrace, for links in mails and in messages about incidents. Required with LOOPTRACE_SMTP_URL. Links are never built from the Host header of a request.',
  }),
}

/**
 * Limits of queries, equal for all projects. Above them, a query gets 400 `query_too_expensive`.
 */
export const querySettings = {
  query_rows_read_max: integer({
    unit: 'rows',
    default: 100_000_000,
    min: 1,
    max: 1_000_000_000_000,
    reason:
      'Maximum rows that a query reads in ClickHouse. A page in time order stops when it is full, and only the byte limit applies.',
  }),
  query_bytes_read_max: integer({
    unit: 'bytes',
    default: 20 * gib,
    min: mib,
    max: 1024 * gib,
    reason: 'Maximum uncompressed bytes that a query reads in ClickHouse.',
  }),
  query_time_ms_max: integer({
    unit: 'ms',
    default: 10 * seconds,
    min: 100,
    max: hours,
    reason: 'Maximum time of a query in a store.',
  }),
  query_memory_bytes_max: integer({
    unit: 'bytes',
    default: gib,
    min: mib,
    max: 64 * gib,
    reason: 'Maximum memory of a query in ClickHouse.',
  }),
  query_result_rows_max: integer({
    unit: 'rows',
    default: 10_000,
    min: 1,
    max: 10_000,
    reason: 'Maximum rows of an answer.',
  }),
  query_postgres_connections_max: integer({
    unit: 'connections',
    default: 4,
    min: 1,
    max: 100,
    reason: 'Connections to PostgreSQL for queries alone, so that slow queries delay nothing else.',
  }),
  saved_queries_max: integer({
    unit: 'queries',
    default: 1_000,
    min: 1,
    max: 100_000,
    reason: 'Maximum saved queries per project. Above it, saving answers 409.',
  }),
}

/** Limits of the knowledge base. Above them, a write gets 409 `knowledge_base_full`. */
export const knowledgeSettings = {
  kb_document_chunks_max: integer({
    unit: 'passages',
    default: 20_000,
    min: 1,
    max: 200_000,
    reason: 'Maximum passages of a document. A passage has up to 3 sentences.',
  }),
  kb_project_chunks_max: integer({
    unit: 'passages',
    default: 200_000,
    min: 1,
    max: 10_000_000,
    reason: 'Maximum passages of all documents per project.',
  }),
  kb_project_bytes_max: integer({
    unit: 'bytes',
    default: 500 * mib,
    min: mib,
    max: 100 * gib,
    reason: 'Maximum bytes of documents per project, with the newest 10 versions of each.',
  }),
  kb_project_facts_max: integer({
    unit: 'facts',
    default: 10_000,
    min: 1,
    max: 50_000,
    reason: 'Maximum facts per project. A verification reads them all.',
  }),
}

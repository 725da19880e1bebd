/** Ids that mean more than one subject of a queue, or break its protocol or a path. */
export const hostileIds: readonly string[] = [
  ...['*', '>', '*.*', 'a.b', '.', '..', 'a.>', '$JS.API.STREAM.PURGE.looptrace_queue'],
  ...['a b', 'a\tb', 'a\r\nPUB looptrace.ingest.x 0\r\n\r\n', '\u0000', '\u007f', 'é', '%2A'],
  'a'.repeat(5_000),
]

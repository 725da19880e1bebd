import { context, failure, ill, type LabelledRun, loop } from './labelled-run.ts'

/** A call that fails three times, with many different error texts. */
function failing(name: string, about: { tool: string; args: unknown; error: string }): LabelledRun {
  return ill(
    name,
    [loop('repeat_error')],
    (run) =>
      run
        .system('You work with tools.')
        .user('Please do it.')
        .mark()
        .times(3, (agent) => agent.tool({ name: about.tool, args: about.args }, about.error))
        .assistant('It did not work.'),
    { tools: [about.tool], may: ['tool_failure'] },
  )
}

/** The many words for one error. */
export const wordRuns: readonly LabelledRun[] = [
  failing('git says fatal', {
    tool: 'bash',
    args: { cmd: 'git log' },
    error: 'fatal: not a git repository (or any of the parent directories): .git',
  }),
  failing('Java says exception', {
    tool: 'run_jar',
    args: { jar: 'a.jar' },
    error: 'Exception in thread "main" java.lang.NullPointerException\n\tat Main.main(Main.java:5)',
  }),
  failing('Go panics', {
    tool: 'go_run',
    args: { pkg: './cmd' },
    error: 'panic: runtime error: index out of range [3] with length 3\n\ngoroutine 1 [running]:',
  }),
  failing('a server says 400', {
    tool: 'http',
    args: { url: '/v1/items' },
    error: 'HTTP/1.1 400 Bad Request\n{"detail":"name is missing"}',
  }),
  failing('an MCP result says isError', {
    tool: 'mcp_files_move',
    args: { from: 'a', to: 'b' },
    error: '{"isError":true,"content":[{"type":"text","text":"a is a folder"}]}',
  }),
  failing('a remote call gives an error object', {
    tool: 'rpc',
    args: { method: 'sum' },
    error: '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}',
  }),
  failing('a German tool says Fehler', {
    tool: 'datei_lesen',
    args: { name: 'a.txt' },
    error: 'Fehler: Die Datei a.txt wurde nicht gefunden.',
  }),
  failing('a French tool says erreur', {
    tool: 'lire_fichier',
    args: { nom: 'a.txt' },
    error: 'Erreur : fichier introuvable',
  }),
  failing('Node throws', {
    tool: 'node',
    args: { code: 'x.y' },
    error: "TypeError: Cannot read properties of undefined (reading 'y')\n    at <anonymous>:1:3",
  }),
  failing('a tool says failed to', {
    tool: 'mount',
    args: { disk: 'sdb' },
    error: 'Failed to mount sdb: wrong fs type',
  }),
  ill(
    'the same rows in another time each time',
    [loop('repeat_call')],
    (run) =>
      run
        .user('How many orders?')
        .mark()
        .times(4, (agent, at) =>
          agent.tool(
            { name: 'sql_run', args: { q: 'select count(*) from orders' } },
            `count\n412\n(1 row, took ${12 + at * 3}.${at}4 ms) [${1_790_000_001_123 + at * 977}]`,
          ),
        )
        .assistant('412.'),
    { tools: ['sql_run'] },
  ),
  ill('yes or no was asked for', [context('lost_context')], (run) =>
    run
      .system('Answer only with "yes" or "no".')
      .user('Is 7 a prime?')
      .assistant('yes')
      .user('Is 9 a prime?')
      .mark()
      .assistant(
        'Well, that depends on how one looks at it: nine can be divided by three, so one would rather say that it is not.',
      ),
  ),
  ill('zwei Sätze waren erlaubt', [context('lost_context')], (run) =>
    run
      .system('Antworte in höchstens zwei Sätzen.')
      .user('Was ist Tau?')
      .assistant('Tau ist Wasser aus der Luft. Er entsteht in kühlen Nächten.')
      .user('Und Reif?')
      .mark()
      .assistant(
        'Reif ist gefrorener Tau. Er entsteht bei Frost. Man sieht ihn am Morgen. Er ist weiß. Er schmilzt in der Sonne.',
      ),
  ),
  ill('every answer begins with a word', [context('lost_context')], (run) =>
    run
      .system('Start every answer with "Dear guest,".')
      .user('When is dinner?')
      .assistant('Dear guest, dinner is from six to nine.')
      .user('And the sauna?')
      .mark()
      .assistant('The sauna is open until ten.'),
  ),
  ill(
    'a prompt is too long, in the words of another provider',
    [context('context_overflow')],
    (run) =>
      run
        .user('Read the archive.')
        .tool({ name: 'archive' }, 'pages')
        .assistant({
          error: {
            status: 400,
            type: 'invalid_request_error',
            message: 'prompt is too long: 213462 tokens > 200000 maximum',
          },
        }),
    {
      provider: 'anthropic',
      model: 'claude-3-5-sonnet-20241022',
      tools: ['archive'],
      may: ['provider_bad_request'],
    },
  ),
  ill(
    'a quota in the words of another provider',
    [failure('provider_rate_limit')],
    (run) =>
      run.user('Hi').times(2, (agent) =>
        agent
          .assistant({
            error: {
              status: 429,
              type: 'RESOURCE_EXHAUSTED',
              message: 'Quota exceeded for requests per minute.',
            },
          })
          .wait(1_000),
      ),
    { provider: 'google', model: 'gemini-1.5-flash' },
  ),
  ill(
    'a prompt that a policy stops',
    [failure('content_filter')],
    (run) =>
      run.user('Describe the wound.').assistant({
        error: {
          status: 400,
          type: 'content_filter',
          message:
            "The response was filtered due to the prompt triggering Azure's content management policy.",
        },
      }),
    { provider: 'azure', may: ['provider_bad_request'] },
  ),
  ill('a refusal with another apostrophe', [failure('refusal')], (run) =>
    run
      .system('You help with letters.')
      .user('Write to my bank.')
      .mark()
      .assistant('I’m unable to help with that request.'),
  ),
  ill(
    'die Tests werden jetzt ausgeführt, sagt das Ende',
    [failure('premature_stop')],
    (run) =>
      run
        .system('Du bist ein Programmieragent.')
        .user('Behebe den Fehler und führe die Tests aus.')
        .tool({ name: 'bearbeiten', args: { datei: 'a.py' } }, 'gespeichert')
        .mark()
        .assistant('Der Fehler ist behoben. Ich werde jetzt die Tests ausführen.'),
    { tools: ['bearbeiten', 'testen'] },
  ),
  ill(
    'a green tick behind a red deployment',
    [failure('false_success')],
    (run) =>
      run
        .system('You deploy.')
        .user('Deploy web 7.')
        .tool(
          { name: 'deploy', args: { app: 'web', version: 7 } },
          '{"status":"failed","reason":"health check did not pass"}',
        )
        .mark()
        .assistant('✅ Deployment complete! web 7 is live.'),
    { tools: ['deploy'], may: ['tool_failure'] },
  ),
  ill(
    'a calendar entry is made twice in a row',
    [failure('duplicate_side_effect')],
    (run) =>
      run
        .user('Put the dentist on Monday at nine.')
        .tool(
          { name: 'calendar_create_event', args: { title: 'Dentist', at: 'Mon 9:00' } },
          '{"id":"e1"}',
        )
        .mark()
        .tool(
          { name: 'calendar_create_event', args: { title: 'Dentist', at: 'Mon 9:00' } },
          '{"id":"e2"}',
        )
        .assistant('The dentist is on Monday at nine.'),
    { tools: ['calendar_create_event'] },
  ),
]

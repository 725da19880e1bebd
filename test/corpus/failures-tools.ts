import { failure, ill, type LabelledRun } from './labelled-run.ts'

/** Unavailable tools, unresolved errors, and what agents say or do in spite of them. */
export const toolRuns: readonly LabelledRun[] = [
  ill(
    'a payment service that is down',
    [failure('tool_outage')],
    (run) =>
      run
        .system('You take payments.')
        .user('Charge order 12.')
        .mark()
        .tool({ name: 'charge', args: { order: 12 } }, 'HTTP 503 Service Unavailable')
        .wait(2_000)
        .tool({ name: 'charge', args: { order: 12 } }, 'HTTP 503 Service Unavailable')
        .wait(4_000)
        .tool({ name: 'charge', args: { order: 12 } }, 'HTTP 503 Service Unavailable')
        .assistant('The payment service is down; order 12 is not charged.'),
    { tools: ['charge'], may: ['tool_failure'] },
  ),
  ill(
    'a database that nobody reaches',
    [failure('tool_outage')],
    (run) =>
      run
        .user('Wie viele Nutzer haben wir?')
        .mark()
        .tool(
          { name: 'sql', args: { q: 'select count(*) from users' } },
          'Error: connect ECONNREFUSED 10.0.0.4:5432',
        )
        .tool({ name: 'sql', args: { q: 'select 1' } }, 'Error: connect ECONNREFUSED 10.0.0.4:5432')
        .tool(
          { name: 'sql', args: { q: 'select now()' } },
          'Error: connect ECONNREFUSED 10.0.0.4:5432',
        )
        .assistant('Die Datenbank ist nicht erreichbar.'),
    { source: 'otlp', tools: ['sql'], may: ['tool_failure'] },
  ),
  ill(
    'a search with a limit of its own',
    [failure('tool_outage')],
    (run) =>
      run
        .user('News about tides?')
        .mark()
        .tool(
          { name: 'web_search', args: { q: 'tides' } },
          '{"error":{"code":429,"message":"Too Many Requests"}}',
        )
        .tool(
          { name: 'web_search', args: { q: 'tides news' } },
          '{"error":{"code":429,"message":"Too Many Requests"}}',
        )
        .tool(
          { name: 'web_search', args: { q: 'tidal news' } },
          '{"error":{"code":429,"message":"Too Many Requests"}}',
        )
        .assistant('The search takes no more requests now.'),
    { streamed: true, tools: ['web_search'], may: ['tool_failure'] },
  ),
  ill(
    'a host that times out',
    [failure('tool_outage')],
    (run) =>
      run
        .system('You keep machines alive.')
        .user('Reboot node-9.')
        .mark()
        .times(3, (agent) =>
          agent.tool(
            { name: 'ssh', args: { host: 'node-9', cmd: 'reboot' } },
            { text: 'ssh: connect to host node-9 port 22: Connection timed out', after_ms: 9_000 },
          ),
        )
        .assistant('node-9 does not answer.'),
    { tools: ['ssh'], may: ['tool_failure'] },
  ),
  ill(
    'a deployment that failed and stayed so',
    [failure('tool_failure')],
    (run) =>
      run
        .system('You deploy services.')
        .user('Deploy cart 2.1 to production.')
        .tool({ name: 'build', args: { service: 'cart' } }, 'built cart:2.1')
        .mark()
        .tool(
          { name: 'deploy', args: { image: 'cart:2.1' } },
          'Error: image cart:2.1 is not signed; deployment refused',
        )
        .assistant(
          'The deployment was refused: the image is not signed. I could not deploy cart 2.1.',
        ),
    { tools: ['build', 'deploy'] },
  ),
  ill(
    'a ticket that could not be made',
    [failure('tool_failure')],
    (run) =>
      run
        .user('Abre un ticket para el fallo de la impresora.')
        .mark()
        .tool(
          { name: 'create_ticket', args: { title: 'Fallo de impresora' } },
          '{"status":"error","message":"project PRN is archived"}',
        )
        .assistant('No he podido abrir el ticket: el proyecto está archivado.'),
    { source: 'otlp', tools: ['create_ticket'] },
  ),
  ill(
    'a script that ends with a trace',
    [failure('tool_failure')],
    (run) =>
      run
        .user('Convert data.xls to CSV.')
        .tool({ name: 'ls' }, 'data.xls')
        .mark()
        .tool(
          { name: 'python', args: { code: 'convert("data.xls")' } },
          'Traceback (most recent call last):\n  File "x.py", line 1, in <module>\nValueError: file is encrypted',
        )
        .assistant('I was unable to convert the file because it is encrypted.'),
    { tools: ['ls', 'python'], streamed: true },
  ),
  ill(
    'all tests pass, says the agent, and they do not',
    [failure('false_success')],
    (run) =>
      run
        .system('You are a coding agent.')
        .user('Fix the date parser and make the tests pass.')
        .tool({ name: 'edit', args: { path: 'date.py', text: 'x' } }, 'edited')
        .tool(
          { name: 'bash', args: { cmd: 'pytest' } },
          '==== 3 failed, 20 passed in 1.2s ====\nFAILED test_date.py::test_leap\n[exit code: 1]',
        )
        .mark()
        .assistant('Done! The date parser is fixed and all tests pass.'),
    { tools: ['edit', 'bash'], may: ['tool_failure'] },
  ),
  ill(
    'a mail was sent, says the agent, and was refused',
    [failure('false_success')],
    (run) =>
      run
        .user('Send the minutes to the team.')
        .tool(
          { name: 'send_email', args: { to: 'team@example.org', body: 'Minutes' } },
          'Error: 550 mailbox unavailable, message not sent',
        )
        .mark()
        .assistant('I have successfully sent the minutes to the team.'),
    { tools: ['send_email'], may: ['tool_failure'] },
  ),
  ill(
    'a refund that never happened',
    [failure('false_success')],
    (run) =>
      run
        .system('Du bist der Kundendienst.')
        .user('Ich möchte mein Geld für Bestellung 55 zurück.')
        .tool(
          { name: 'refund', args: { order: 55 } },
          '{"success":false,"error":"order is older than 30 days"}',
        )
        .mark()
        .assistant('Die Erstattung wurde erfolgreich veranlasst. Das Geld ist in drei Tagen da.'),
    { source: 'otlp', tools: ['refund'], may: ['tool_failure'] },
  ),
  ill(
    'a file that was not written is announced',
    [failure('false_success')],
    (run) =>
      run
        .user('Save the summary to /reports/q3.md.')
        .tool(
          { name: 'write_file', args: { path: '/reports/q3.md', text: 'Q3' } },
          "EACCES: permission denied, open '/reports/q3.md'",
        )
        .mark()
        .assistant('The summary has been saved to /reports/q3.md.'),
    { streamed: true, tools: ['write_file'], may: ['tool_failure'] },
  ),
  ill(
    'an invoice is paid twice',
    [failure('duplicate_side_effect')],
    (run) =>
      run
        .system('You pay invoices.')
        .user('Pay invoice 881 over 1,200 euros.')
        .tool(
          { name: 'create_payment', args: { invoice: 881, cents: 120_000 } },
          '{"id":"p-1","state":"done"}',
        )
        .tool({ name: 'get_balance' }, '8400')
        .mark()
        .tool(
          { name: 'create_payment', args: { invoice: 881, cents: 120_000 } },
          '{"id":"p-2","state":"done"}',
        )
        .assistant('Invoice 881 is paid.'),
    { tools: ['create_payment', 'get_balance'] },
  ),
  ill(
    'one mail goes out two times',
    [failure('duplicate_side_effect')],
    (run) =>
      run
        .user('Tell Ben that lunch is at one.')
        .tool(
          {
            name: 'send_email',
            args: { to: 'ben@example.org', subject: 'Lunch', body: 'At one.' },
          },
          'sent, id 1',
        )
        .mark()
        .tool(
          {
            name: 'send_email',
            args: { to: 'ben@example.org', subject: 'Lunch', body: 'At one.' },
          },
          'sent, id 2',
        )
        .assistant('Ben knows.'),
    { source: 'otlp', tools: ['send_email'] },
  ),
  ill(
    'an order is placed in both of two calls side by side',
    [failure('duplicate_side_effect')],
    (run) =>
      run
        .user('Bestelle zwei Kisten Wasser.')
        .mark()
        .assistant({
          calls: [
            { name: 'place_order', args: { item: 'water', crates: 2 } },
            { name: 'place_order', args: { item: 'water', crates: 2 } },
          ],
        })
        .results(['{"order":"o-1"}', '{"order":"o-2"}'])
        .assistant('Zwei Kisten Wasser sind bestellt.'),
    { tools: ['place_order'], streamed: true },
  ),
]

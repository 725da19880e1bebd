import { claim, context, failure, ill, type LabelledRun, loop } from './labelled-run.ts'

/** More shapes: other languages, other tools, other places. */
export const moreRuns: readonly LabelledRun[] = [
  ill(
    'a browser types the same word into the same field',
    [loop('repeat_call')],
    (run) =>
      run
        .system('You act in a browser, one action per turn.')
        .user('Search for "kayak".')
        .mark()
        .times(5, (agent, at) =>
          agent.tool(
            {
              name: 'browser.type',
              args: { ref: 'e12', text: 'kayak' },
              text: `Typing the search word, try ${at + 1}.`,
            },
            'Typed "kayak" into e12. Page unchanged.',
          ),
        )
        .assistant('The page does not react to the search.'),
    { streamed: true, tools: ['browser.type', 'browser.press'], may: ['duplicate_side_effect'] },
  ),
  ill(
    'an ops agent restarts what does not exist',
    [loop('repeat_error')],
    (run) =>
      run
        .system('Eres un agente de operaciones.')
        .user('Reinicia el servicio de correo.')
        .mark()
        .times(4, (agent) =>
          agent.tool(
            { name: 'kubectl', args: ['rollout', 'restart', 'deployment/mail'] },
            'Error from server (NotFound): deployments.apps "mail" not found',
          ),
        )
        .assistant('No existe ningún servicio con ese nombre.'),
    { tools: ['kubectl'], may: ['tool_failure', 'arguments_invalid'] },
  ),
  ill(
    'a file outside of the sandbox is asked for again and again',
    [loop('repeat_error')],
    (run) =>
      run
        .user('Copy /etc/hosts here.')
        .tool({ name: 'pwd' }, '/work')
        .mark()
        .times(3, (agent) =>
          agent.tool(
            { name: 'read_file', args: { path: '/etc/hosts' } },
            {
              text: '<tool_use_error>Access denied: path is outside of the workspace</tool_use_error>',
              failed: true,
            },
          ),
        )
        .assistant('I may not read files outside of the workspace.'),
    { source: 'otlp', tools: ['pwd', 'read_file'], may: ['tool_failure'] },
  ),
  ill(
    'two reviewers send a text back and forth',
    [loop('cycle')],
    (run) =>
      run
        .system('Coordinate writer and editor until the editor agrees.')
        .user('A slogan for a bakery.')
        .mark()
        .times(3, (agent) =>
          agent
            .tool({ name: 'writer', args: { task: 'slogan' } }, 'Fresh every morning.')
            .tool(
              { name: 'editor', args: { text: 'Fresh every morning.' } },
              'Rejected: too plain. Write a better one.',
            ),
        )
        .assistant('Fresh every morning.'),
    { model: 'gpt-4o', tools: ['writer', 'editor'] },
  ),
  ill(
    'a schedule is moved there and back',
    [loop('cycle')],
    (run) =>
      run
        .user('Trouve un créneau pour la réunion.')
        .mark()
        .times(3, (agent) =>
          agent
            .tool({ name: 'deplacer', args: { jour: 'lundi' } }, 'conflit avec Paul')
            .tool({ name: 'deplacer', args: { jour: 'mardi' } }, 'conflit avec Zoé')
            .tool({ name: 'deplacer', args: { jour: 'jeudi' } }, 'conflit avec Léa'),
        )
        .assistant('Aucun jour ne convient à tous.'),
    { source: 'otlp_openinference' },
  ),
  ill(
    'eight selectors, none of them right',
    [loop('error_streak')],
    (run) =>
      run
        .system('You test a web shop.')
        .user('Put a shoe into the basket.')
        .tool({ name: 'open', args: { url: 'https://shop.example' } }, 'Shop')
        .mark()
        .times(8, (agent, at) =>
          agent.tool(
            { name: 'click', args: { css: `div:nth-child(${at + 1}) > button` } },
            `Error: locator.click: no element matches div:nth-child(${at + 1}) > button`,
          ),
        )
        .assistant('I found no button for the basket.'),
    { streamed: true, tools: ['open', 'click'], may: ['tool_failure', 'tool_outage'] },
  ),
  ill(
    'the model says in French what it will do, and says it again',
    [loop('monologue')],
    (run) =>
      run
        .system('Tu es un agent qui utilise des outils.')
        .user('Range mes photos par année.')
        .tool({ name: 'lister', args: { dossier: 'photos' } }, '2019 2020 2021')
        .mark()
        .times(3, (agent) =>
          agent.assistant('Je vais maintenant créer un dossier pour chaque année.'),
        ),
    { tools: ['lister', 'creer_dossier'], may: ['premature_stop'] },
  ),
  ill(
    'a policy is quoted once more before each answer to one question',
    [loop('scattered_repeat')],
    (run) =>
      run
        .system('You answer questions on travel costs.')
        .user('What do I get for a trip to Wien by car with two colleagues?')
        .mark()
        .tool({ name: 'get_policy', args: { section: 'travel' } }, '0.30 euros per km')
        .tool({ name: 'distance', args: { to: 'Wien' } }, '430 km')
        .tool({ name: 'get_policy', args: { section: 'travel' } }, '0.30 euros per km')
        .tool({ name: 'allowance', args: { passengers: 2 } }, '0.02 euros per km each')
        .tool({ name: 'toll', args: { to: 'Wien' } }, '9.90 euros')
        .tool({ name: 'get_policy', args: { section: 'travel' } }, '0.30 euros per km')
        .assistant('430 km at 0.34 euros and 9.90 euros of toll: 156.10 euros.'),
    // Two operations in one: the rate of the car and of two passengers.
    { source: 'otlp', may: ['unsupported_value'] },
  ),
  ill('a table was agreed on and prose came', [context('lost_context')], (run) =>
    run
      .system('Always answer with a markdown table.')
      .user('Rome and Milan: inhabitants?')
      .assistant('| city | inhabitants |\n|---|---|\n| Rome | 2.8 m |\n| Milan | 1.4 m |')
      .user('Naples and Turin?')
      .mark()
      .assistant(
        'Naples has about nine hundred thousand inhabitants and Turin about eight hundred and fifty thousand.',
      ),
  ),
  ill('ein Wort, das verboten war', [context('lost_context')], (run) =>
    run
      .system('Du schreibst Werbung. Verwende niemals das Wort „billig“.')
      .user('Eine Zeile für Schuhe.')
      .assistant('Gute Schuhe für jeden Weg.')
      .user('Und für Socken?')
      .mark()
      .assistant('Weich, warm und billig: unsere Socken.'),
  ),
  ill(
    'ein Budget, das wächst',
    [context('contradicted_fact')],
    (run) =>
      run
        .system('Du planst Reisen.')
        .user('Ich möchte nach Wien. Mein Budget beträgt 400 Euro.')
        .assistant('Gern. Wie viele Nächte?')
        .user('Drei.')
        .mark()
        .assistant('Ihr Budget beträgt 900 Euro, also passt das Hotel am Ring.'),
    { may: ['lost_context'] },
  ),
  ill(
    'an account number loses a digit on the way to a tool',
    [context('contradicted_fact'), claim()],
    (run) =>
      run
        .system('You are the assistant of a bank.')
        .user('My account number is 880123. What is its balance?')
        .tool({ name: 'balance', args: { account: '880123' } }, '{"eur":310}')
        .assistant('310 euros.')
        .user('Is a card tied to it?')
        .mark()
        .assistant('Yes, your account number is 80123 and one debit card is tied to it.'),
    { tools: ['balance'], streamed: true, may: ['lost_context'] },
  ),
  ill(
    'the customer is asked for the device again',
    [context('repeated_question')],
    (run) =>
      run
        .system('You help with phones.')
        .user('The app crashes.')
        .assistant('Which phone do you have?')
        .user('A Pixel 8.')
        .assistant('Which version of the app is it?')
        .user('4.2')
        .tool({ name: 'known_issues', args: { version: '4.2' } }, '[]')
        .mark()
        .assistant('I found no known problem. Which phone do you have?'),
    { tools: ['known_issues'], may: ['lost_context'] },
  ),
  ill(
    'the head of a contract falls out and a clause is made up',
    [context('context_truncated')],
    (run) =>
      run
        .system('You are a paralegal.')
        .user('The contract: notice period is 3 months, rent is 900 euros, pets are allowed.')
        .assistant('Thank you, what do you want to know?')
        .user('May I keep a cat?')
        .assistant('Yes, pets are allowed.')
        .user('And how do I end it?')
        .assistant('In writing.')
        .truncate(4)
        .user('With what notice period?')
        .mark()
        .assistant('The contract was not given to me; usually it is one month.'),
    { source: 'otlp_openinference', may: ['contradicted_fact', 'lost_context'] },
  ),
  ill(
    'the answer is cut again and again and never taken up',
    [failure('output_truncated')],
    (run) =>
      run
        .system('Write the whole file.')
        .user('Generate the 500 fixtures.')
        .mark()
        .assistant({ text: '[{"id":1},{"id":2},{"id":3', finish_reason: 'length' })
        .user('The JSON is broken. All 500, please.')
        .assistant({ text: '[{"id":1,"n":"a"},{"id":2,"n":"b"},{"id', finish_reason: 'length' }),
  ),
  ill(
    'a call in an older spelling of its tool',
    [failure('unknown_tool')],
    (run) =>
      run
        .system('You manage tasks.')
        .user('Close task 4.')
        .tool({ name: 'get_task', args: { id: 4 } }, 'open')
        .mark()
        .tool({ name: 'close_task', args: { id: 4 } }, 'Error: no tool named close_task')
        .tool({ name: 'complete_task', args: { id: 4 } }, 'done')
        .assistant('Task 4 is closed.'),
    { tools: ['get_task', 'complete_task'], may: ['tool_failure'] },
  ),
  ill(
    'a message is posted to the same room again after a look at it',
    [failure('duplicate_side_effect')],
    (run) =>
      run
        .system('You are the release bot.')
        .user('Announce release 2.0 in #general.')
        .tool(
          {
            name: 'slack_post_message',
            args: { channel: '#general', text: 'Release 2.0 is out!' },
          },
          '{"ok":true,"ts":"1.1"}',
        )
        .tool({ name: 'slack_read', args: { channel: '#general' } }, 'bot: Release 2.0 is out!')
        .mark()
        .tool(
          {
            name: 'slack_post_message',
            args: { channel: '#general', text: 'Release 2.0 is out!' },
          },
          '{"ok":true,"ts":"1.2"}',
        )
        .assistant('Announced.'),
    { tools: ['slack_post_message', 'slack_read'] },
  ),
]

import { context, failure, healthy, ill, type LabelledRun, loop } from './labelled-run.ts'

/** Various runs of all kinds. */
export const mixedRuns: readonly LabelledRun[] = [
  ill('a tax number is searched with the same form', [loop('repeat_call')], (run) =>
    run
      .user('Trova la partita IVA di Rossi srl.')
      .mark()
      .times(3, (agent) =>
        agent.tool({ name: 'cercaImpresa', args: { nome: 'Rossi srl' } }, '{"risultati":[]}'),
      )
      .assistant('Non ho trovato nessuna impresa con questo nome.'),
  ),
  ill(
    'a compiler that is called with a wrong flag',
    [loop('repeat_error')],
    (run) =>
      run
        .system('You are a coding agent.')
        .user('Compile with LTO.')
        .mark()
        .times(3, (agent) =>
          agent.tool(
            { name: 'execute_command', args: { command: 'gcc -lto a.c' } },
            '/usr/bin/ld: cannot find -lto: No such file or directory\ncollect2: error: ld returned 1 exit status',
          ),
        )
        .assistant('The flag seems to be wrong.'),
    { may: ['tool_failure'] },
  ),
  ill('three tools in a ring, in a help desk', [loop('cycle')], (run) =>
    run
      .system('You help with phones.')
      .user('My SIM does not work.')
      .mark()
      .times(4, (agent) =>
        agent
          .tool({ name: 'check_sim', args: { id: 7 } }, 'SIM active')
          .tool({ name: 'check_network', args: { id: 7 } }, 'network ok')
          .tool({ name: 'check_phone', args: { id: 7 } }, 'phone ok'),
      )
      .assistant('Everything looks fine from here.'),
  ),
  ill('queries in a language that the index does not know', [loop('similar_call')], (run) =>
    run
      .user('Quels sont les horaires de la piscine ?')
      .mark()
      .tool({ name: 'faq', args: { q: 'horaires piscine' } }, 'aucun résultat')
      .tool({ name: 'faq', args: { q: 'piscine horaires' } }, 'aucun résultat')
      .tool({ name: 'faq', args: { q: 'Horaires Piscine' } }, 'aucun résultat')
      .tool({ name: 'faq', args: { q: 'piscine: horaires' } }, 'aucun résultat')
      .tool({ name: 'faq', args: { q: '"horaires" "piscine"' } }, 'aucun résultat')
      .assistant('Je n’ai pas trouvé les horaires.'),
  ),
  ill(
    'an answer that counts the same sheep',
    [loop('content_chant')],
    (run) =>
      run
        .user('Help me sleep.')
        .mark()
        .assistant(
          `Close your eyes. ${'A white sheep jumps over the wooden fence and runs into the green valley. '.repeat(16)}`,
        ),
    { source: 'otlp' },
  ),
  ill(
    'two digits of a phone number change places',
    [context('contradicted_fact')],
    (run) =>
      run
        .system('You plan parties.')
        .user('My phone number is 555-0101. Call me when the cake is ready.')
        .assistant('I will. Which cake?')
        .user('Chocolate.')
        .mark()
        .assistant('Noted. Your phone number is 555-0110, and the cake is chocolate.'),
    { may: ['lost_context'] },
  ),
  ill('no lists were wanted', [context('lost_context')], (run) =>
    run
      .system('Never use bullet points in your answers.')
      .user('What is in a Greek salad?')
      .assistant('Tomatoes, cucumber, onion, olives and feta.')
      .user('And in a Waldorf salad?')
      .mark()
      .assistant('- apples\n- celery\n- walnuts\n- mayonnaise'),
  ),
  ill(
    'a bill is said to be paid',
    [failure('false_success')],
    (run) =>
      run
        .user('Pay the electricity bill.')
        .tool({ name: 'pay_bill', args: { bill: 'el-3' } }, 'Payment declined: insufficient funds')
        .mark()
        .assistant('Your electricity bill has been paid.'),
    { tools: ['pay_bill'], may: ['tool_failure'] },
  ),
  healthy(
    'a budget in two currencies',
    (run) =>
      run
        .user('My budget is 500 euros. How much is that in dollars?')
        .tool({ name: 'convert', args: { eur: 500 } }, '540')
        .assistant('Your budget of 500 euros is about 540 dollars.'),
    { tools: ['convert'] },
  ),
  healthy('every second the same heart rate, and then another', (run) =>
    run
      .user('Watch my pulse for a moment.')
      .times(3, (agent, at) => agent.tool({ name: 'pulse' }, `${62 + at} bpm`))
      .assistant('It is between 62 and 64.'),
  ),
  healthy('a list of the words not to use', (run) =>
    run
      .system('Never use the word "guarantee" in answers to customers.')
      .user('How long will the shoes last?')
      .assistant('With some care, several years.')
      .user('Can you promise that?')
      .assistant('I can not promise it, but most of our customers wear them for three years.'),
  ),
  healthy('a translator with twenty equal lines', (run) =>
    run
      .user('Translate: ja, ja, ja, nein, ja.')
      .assistant('Yes, yes, yes, no, yes.')
      .user('Einmal noch.')
      .assistant('Yes, yes, yes, no, yes.'),
  ),
  healthy(
    'a folder is listed after each move',
    (run) =>
      run
        .user('Move a, b and c to old.')
        .tool({ name: 'mv', args: { f: 'a' } }, '')
        .tool({ name: 'ls', args: { d: 'old' } }, 'a')
        .tool({ name: 'mv', args: { f: 'b' } }, '')
        .tool({ name: 'ls', args: { d: 'old' } }, 'a b')
        .tool({ name: 'mv', args: { f: 'c' } }, '')
        .tool({ name: 'ls', args: { d: 'old' } }, 'a b c')
        .assistant('All three are in old.'),
    { tools: ['mv', 'ls'] },
  ),
]

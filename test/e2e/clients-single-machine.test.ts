import { afterAll, beforeAll, describe } from 'vitest'
import { verdictSuite } from '../support/agents/verdict-suite.ts'
import { type ClientShape, singleMachineShape } from '../support/clients/client-shape.ts'
import { clientSuite } from '../support/clients/client-suite.ts'

let shape: ClientShape
beforeAll(async () => {
  shape = await singleMachineShape()
})
afterAll(() => shape?.[Symbol.asyncDispose]())

describe('clients of role all', () => clientSuite(() => shape))
describe('verdicts of role all', () => verdictSuite(() => shape))

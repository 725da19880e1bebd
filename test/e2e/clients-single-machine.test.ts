import { afterAll, beforeAll, describe } from 'vitest'
import { verdictSuite } from '../support/agents/verdict-suite.ts'
import { type ClientShape, singleMachineShape } from '../support/clients/client-shape.ts'
import { clientSuite } from '../support/clients/client-suite.ts'
import { generatedSuite } from '../support/clients/generated-suite.ts'

let shape: ClientShape
beforeAll(async () => {
  shape = await singleMachineShape()
})
afterAll(() => shape?.[Symbol.asyncDispose]())

describe('clients of role all', () => clientSuite(() => shape))
describe('verdicts of role all', () => verdictSuite(() => shape))
// Last: generated calls may archive the project, which the others need.
describe('the OpenAPI document of role all', () => generatedSuite(() => shape))

/** The service as it is. */
import { serve } from '../support/serve.ts'

await serve()

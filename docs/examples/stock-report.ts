/** Logs every morning how many products there are. The example of docs/extensions.md. */
import { products } from 'latchkey'
import { defineFeature } from 'latchkey/feature'

export default defineFeature({
  name: 'stock-report',
  needs: { products },
  create: ({ log }, { products }) => ({
    async report() {
      log.info({ products: await products.countProducts() }, 'stock report')
    },
  }),
  jobs: {
    'report-stock': {
      at: '07:30',
      run: ({ service }) => service.report(),
    },
  },
})

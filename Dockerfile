# The program: see docs/server.md. Build it with `docker build -t analytics-outbox .`
FROM node:24-alpine AS build
WORKDIR /source
ENV PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD=1
COPY package.json package-lock.json ./
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build
RUN npm pack --silent && mv analytics-outbox-*.tgz /package.tgz

FROM node:24-alpine
WORKDIR /program
COPY --from=build /package.tgz ./
RUN npm init --yes > /dev/null && npm install --omit=dev --no-audit --no-fund ./package.tgz @hono/node-server hono undici prom-client libsql pg && rm package.tgz && npm cache clean --force
# The database, if it is a file, and the tokens. A new volume gets the owner of the folder.
RUN mkdir /data && chown node /data
VOLUME /data
USER node
ENV HOST=0.0.0.0 PORT=8787 DATA_FOLDER=/data
EXPOSE 8787
HEALTHCHECK --interval=10s --timeout=3s CMD node -e "fetch('http://127.0.0.1:' + process.env.PORT + '/ready').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"
CMD ["node", "node_modules/analytics-outbox/dist/program.js"]

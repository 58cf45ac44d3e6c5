-- Posts BODY to the path, as the user of TOKEN.
wrk.method = "POST"
wrk.body = os.getenv("BODY")
wrk.headers["content-type"] = "application/json"
wrk.headers["authorization"] = "Bearer " .. os.getenv("TOKEN")
